//! Sets of plug-ins: policies, disciplines, algorithms. Each set is closed and dispatched statically, and one line a
//! plug-in makes all of it ([`crate::registry!`]).

/// Describes a plug-in for lists and generated documentation.
#[derive(Debug, Clone)]
pub struct Info {
    /// The name in scenario files.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it is described.
    pub reference: &'static str,
    /// What a switch keeps for each VC; said of discard policies.
    pub per_vc: Option<&'static str>,
    /// JSON schema of its parameters; the field's documentation stands in it.
    pub schema: schemars::Schema,
}

/// A parameter that makes no sense: which one, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamError {
    /// The parameter's key in its table.
    pub key: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Whether `value` is the default: such tables are left out when a scenario is written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A plug-in behind a reference to its box. Plug-ins are in boxes so that a small one does not take the room of the largest: a
/// network has very many.
pub trait Unboxed {
    /// The plug-in.
    type Plugin;

    /// Borrows it.
    fn unboxed(self) -> Self::Plugin;
}

impl<'a, T> Unboxed for &'a Box<T> {
    type Plugin = &'a T;

    #[inline(always)]
    fn unboxed(self) -> &'a T {
        self
    }
}

impl<'a, T> Unboxed for &'a mut Box<T> {
    type Plugin = &'a mut T;

    #[inline(always)]
    fn unboxed(self) -> &'a mut T {
        self
    }
}

/// Declares a set of plug-ins from one line for each, `module::Type => "name"`:
///
/// - `names`: the enum of their names, as scenario files write them, with `ALL` and `name()`;
/// - `any`: the enum that holds one of them; with `: Default`, for plug-ins without parameters, `new()` for the one of a name;
/// - `dispatch`: a macro `with!(any, bound => body)` that runs `body` with `bound` bound to the plug-in inside `any`;
/// - with `tables`, for plug-ins that have parameters: the table of a scenario file that names one of them and holds the
///   parameters of each, its `check()`, `new()` for the one it chooses, and `info()`, its entry in the catalogue.
///
/// The crate that uses it depends on `serde` and `schemars`.
#[macro_export]
macro_rules! registry {
    (
        $(#[$names_meta:meta])* names $Names:ident;
        $(#[$any_meta:meta])* any $vis:vis $Any:ident;
        $(#[$with_meta:meta])* dispatch $with:ident in $root:tt::$folder:ident;
        { $($(#[$doc:meta])* $module:ident::$plugin:ident => $text:literal,)* }
    ) => {
        $(#[$names_meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $Names {
            $(
                $(#[$doc])*
                #[serde(rename = $text)]
                $plugin,
            )*
        }

        impl $Names {
            /// All names, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$plugin,)*];

            /// The name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$plugin => $text,)*
                }
            }
        }

        $(#[$any_meta])*
        #[derive(Debug, Clone)]
        $vis enum $Any {
            $(
                $(#[$doc])*
                $plugin(Box<$module::$plugin>),
            )*
        }

        $(#[$with_meta])*
        macro_rules! $with {
            ($any:expr, $bound:ident => $body:expr) => {
                match $any {
                    $($root::$folder::$Any::$plugin($bound) => {
                        let $bound = $crate::registry::Unboxed::unboxed($bound);
                        $body
                    })*
                }
            };
        }
    };
    (
        $(#[$names_meta:meta])* names $Names:ident;
        $(#[$any_meta:meta])* any $vis:vis $Any:ident: Default;
        $(#[$with_meta:meta])* dispatch $with:ident in $root:tt::$folder:ident;
        { $($(#[$doc:meta])* $module:ident::$plugin:ident => $text:literal,)* }
    ) => {
        $crate::registry! {
            $(#[$names_meta])* names $Names;
            $(#[$any_meta])* any $vis $Any;
            $(#[$with_meta])* dispatch $with in $root::$folder;
            { $($(#[$doc])* $module::$plugin => $text,)* }
        }

        impl $Any {
            /// The one of this name in its initial state.
            $vis fn new(name: $Names) -> Self {
                match name {
                    $($Names::$plugin => Self::$plugin(Box::default()),)*
                }
            }
        }
    };
    (
        $(#[$names_meta:meta])* names $Names:ident;
        $(#[$any_meta:meta])* any $vis:vis $Any:ident: $Trait:ident($context:ident: $Context:ty);
        $(#[$with_meta:meta])* dispatch $with:ident in $root:tt::$folder:ident;
        $(#[$tables_meta:meta])* tables $Tables:ident {
            $(#[$key_meta:meta])* $key:ident
        }
        per_vc($Plugin:ident) = $per_vc:expr;
        { $($(#[$doc:meta])* $module:ident::$plugin:ident => $text:literal,)* }
    ) => {
        $crate::registry! {
            $(#[$names_meta])* names $Names;
            $(#[$any_meta])* any $vis $Any;
            $(#[$with_meta])* dispatch $with in $root::$folder;
            { $($(#[$doc])* $module::$plugin => $text,)* }
        }

        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        $(#[$tables_meta])*
        pub struct $Tables {
            $(#[$key_meta])*
            pub $key: $Names,
            $(
                #[doc = concat!("Parameters of `", $text, "`.")]
                #[serde(rename = $text, default, skip_serializing_if = "celltrain_engine::registry::is_default")]
                pub $module: <$module::$plugin as $Trait>::Params,
            )*
        }

        impl $Tables {
            /// The one of this name with the default parameters.
            #[must_use]
            pub fn of($key: $Names) -> Self {
                Self { $key, $($module: Default::default(),)* }
            }

            /// Checks the parameters of each, chosen or not, as far as they are wrong wherever it is used.
            ///
            /// # Errors
            /// The name of the first whose parameters are wrong, and what is wrong with them.
            pub fn check(&self) -> Result<(), (&'static str, $crate::registry::ParamError)> {
                $(<$module::$plugin as $Trait>::check(&self.$module).map_err(|error| ($text, error))?;)*
                Ok(())
            }
        }

        impl $Any {
            #[doc = concat!("What `params` chooses.\n\n# Errors\nAs [`", stringify!($Trait), "::new`].")]
            pub fn new(params: &$Tables, $context: $Context) -> Result<Self, $crate::registry::ParamError> {
                Ok(match params.$key {
                    $($Names::$plugin => {
                        Self::$plugin(Box::new(<$module::$plugin as $Trait>::new(&params.$module, $context)?))
                    })*
                })
            }
        }

        impl $Names {
            /// The entry in the catalogue.
            #[must_use]
            pub fn info(self) -> $crate::registry::Info {
                match self {
                    $(Self::$plugin => {
                        type $Plugin = $module::$plugin;
                        $crate::registry::Info {
                            name: $text,
                            summary: <$Plugin as $Trait>::SUMMARY,
                            reference: <$Plugin as $Trait>::REFERENCE,
                            per_vc: $per_vc,
                            schema: schemars::schema_for!(<$Plugin as $Trait>::Params),
                        }
                    })*
                }
            }
        }
    };
}
