//! A set of plug-ins without parameters, made by the registry.

mod shapes {
    /// What each plug-in is.
    pub(crate) trait Shape: Default {
        fn corners(&self) -> u32;
    }

    pub(crate) mod triangle {
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Triangle;

        impl super::Shape for Triangle {
            fn corners(&self) -> u32 {
                3
            }
        }
    }

    pub(crate) mod long_square {
        #[derive(Debug, Clone, Default)]
        pub(crate) struct LongSquare;

        impl super::Shape for LongSquare {
            fn corners(&self) -> u32 {
                4
            }
        }
    }

    celltrain_engine::registry! {
        /// The names of the shapes.
        names ShapeName;
        /// Any shape.
        any pub(crate) Any: Default;
        /// Calls the shape.
        dispatch with_shape in crate::shapes;
        {
            /// Has three corners.
            triangle::Triangle => "triangle",
            /// Has four.
            long_square::LongSquare => "long-square",
        }
    }

    impl Any {
        pub(crate) fn corners(&self) -> u32 {
            with_shape!(self, shape => shape.corners())
        }
    }
}

use shapes::{Any, ShapeName, long_square::LongSquare, triangle::Triangle};

#[test]
fn one_line_makes_the_name_and_the_dispatch() {
    assert_eq!(ShapeName::ALL, [ShapeName::Triangle, ShapeName::LongSquare]);
    assert_eq!(
        ShapeName::ALL.iter().map(|name| name.name()).collect::<Vec<_>>(),
        ["triangle", "long-square"]
    );
    assert_eq!(
        [Any::Triangle(Box::new(Triangle)), Any::LongSquare(Box::new(LongSquare))].map(|any| any.corners()),
        [3, 4]
    );
    assert_eq!(ShapeName::ALL.iter().map(|&name| Any::new(name).corners()).collect::<Vec<_>>(), [3, 4]);
    // What scenario files and their schema call them, and what the schema says of them.
    let schema = schemars::schema_for!(ShapeName);
    let entry = |place: usize| &schema.as_value()["oneOf"][place];
    assert_eq!((&entry(1)["const"], &entry(1)["description"]), (&"long-square".into(), &"Has four.".into()));
}
