//! One line an algorithm: the closed sets of plug-ins and their names.

/// Declares a set of algorithms: the enum of their names as scenario files write them, the enum that holds
/// one of them, and a local macro `dispatch!(self.method(arguments))` that calls the one held, without a
/// table of functions.
///
/// `$d` is a literal `$`, which the inner macro needs for its own variables.
macro_rules! registry {
    (
        $d:tt
        $(#[$kind_doc:meta])* $kind:ident
        $(#[$any_doc:meta])* $any:ident
        { $($(#[$doc:meta])* $variant:ident => $algorithm:ty,)+ }
    ) => {
        $(#[$kind_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $kind {
            $($(#[$doc])* $variant,)+
        }

        impl $kind {
            /// Every algorithm, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
        }

        $(#[$any_doc])*
        #[derive(Debug, Clone)]
        pub(crate) enum $any {
            $($variant($algorithm),)+
        }

        impl $any {
            /// The algorithm of this name in its initial state.
            pub(crate) fn new(kind: $kind) -> Self {
                match kind {
                    $($kind::$variant => Self::$variant(<$algorithm>::default()),)+
                }
            }
        }

        macro_rules! dispatch {
            ($d self:ident . $d method:ident ( $d($d argument:expr),* )) => {
                match $d self {
                    $($any::$variant(algorithm) => algorithm.$d method($d($d argument),*),)+
                }
            };
        }
    };
}

pub(crate) use registry;
