//! From one line an algorithm: the TOML key, the closed enum with static dispatch, and the catalogue.

macro_rules! rate_allocators {
    ($($module:ident::$allocator:ident => $name:literal,)*) => {
        $(pub mod $module;)*

        /// The names of the rate allocators.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum AllocatorName {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $allocator,
            )*
        }

        /// The rate allocator of a port and the parameters of each.
        ///
        /// Tables of allocators other than the chosen one are allowed, so that one scenario can be run under several.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct AllocatorParams {
            /// The allocator's name.
            pub algorithm: AllocatorName,
            $(
                #[doc = concat!("Parameters of `", $name, "`.")]
                #[serde(rename = $name, default, skip_serializing_if = "is_default")]
                pub $module: <$module::$allocator as RateAllocator>::Params,
            )*
        }

        fn is_default<T: Default + PartialEq>(value: &T) -> bool {
            *value == T::default()
        }

        impl AllocatorParams {
            /// `allocator` with the default parameters.
            #[must_use]
            pub fn of(algorithm: AllocatorName) -> Self {
                Self { algorithm, $($module: Default::default(),)* }
            }
        }

        /// Any rate allocator; `match` it once a visit, outside the loop over cells.
        #[derive(Debug, Clone)]
        pub enum Allocator {
            $(
                #[doc = concat!("`", $name, "`")]
                $allocator($module::$allocator),
            )*
        }

        impl Allocator {
            /// The allocator that `params` chooses, for the port `port`.
            ///
            /// # Errors
            /// As [`RateAllocator::new`].
            pub fn new(params: &AllocatorParams, port: &Port<'_>) -> Result<Self, ParamError> {
                Ok(match params.algorithm {
                    $(AllocatorName::$allocator => Self::$allocator(RateAllocator::new(&params.$module, port)?),)*
                })
            }
        }

        impl AllocatorName {
            /// All names, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$allocator,)*];

            /// The name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$allocator => $name,)*
                }
            }

            /// What the catalogue says of this allocator.
            #[must_use]
            pub fn info(self) -> $crate::catalogue::Info {
                match self {
                    $(Self::$allocator => $crate::catalogue::Info {
                        name: $name,
                        summary: <$module::$allocator as RateAllocator>::SUMMARY,
                        reference: <$module::$allocator as RateAllocator>::REFERENCE,
                        per_vc: None,
                        schema: schemars::schema_for!(<$module::$allocator as RateAllocator>::Params),
                    },)*
                }
            }
        }

        /// Runs `$body` with `$bound` bound to the concrete rate allocator inside `$any`.
        #[macro_export]
        macro_rules! with_allocator {
            ($any:expr, $bound:ident => $body:expr) => {
                match $any {
                    $($crate::abr::Allocator::$allocator($bound) => $body,)*
                }
            };
        }
    };
}

pub(super) use rate_allocators;
