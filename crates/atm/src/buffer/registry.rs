//! From one line a policy: the TOML key, the closed enum with static dispatch, and the catalogue.

macro_rules! policies {
    ($($module:ident::$policy:ident => $name:literal,)*) => {
        $(pub mod $module;)*

        /// The names of the discard policies.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum PolicyName {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $policy,
            )*
        }

        /// `[switch.discard]`: the policy of a port's buffer and the parameters of each policy.
        ///
        /// Tables of policies other than the chosen one are allowed, so that one scenario can be run under several.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct DiscardParams {
            /// The policy's name.
            pub policy: PolicyName,
            $(
                #[doc = concat!("Parameters of `", $name, "`.")]
                #[serde(rename = $name, default, skip_serializing_if = "is_default")]
                pub $module: <$module::$policy as BufferPolicy>::Params,
            )*
        }

        fn is_default<T: Default + PartialEq>(value: &T) -> bool {
            *value == T::default()
        }

        impl DiscardParams {
            /// `policy` with the default parameters.
            #[must_use]
            pub fn of(policy: PolicyName) -> Self {
                Self { policy, $($module: Default::default(),)* }
            }
        }

        impl DiscardParams {
            /// The levels among the chosen policy's parameters, by key: what a viewer may read.
            #[must_use]
            pub fn levels(&self) -> Vec<(&'static str, Level)> {
                match self.policy {
                    $(PolicyName::$policy => $module::$policy::levels(&self.$module),)*
                }
            }

            /// Checks that the chosen policy's levels are shares or in the unit of `buffer`.
            ///
            /// # Errors
            /// The first level that is in another unit.
            pub fn check_units(&self, buffer: Capacity) -> Result<(), ParamError> {
                for (key, level) in self.levels() {
                    if let (Some(found), Some(unit)) = (level.unit(), buffer.unit())
                        && found != unit
                    {
                        let message = format!("\"{level}\" does not suit a buffer of {buffer}: give a share or a number of {unit}");
                        return Err(ParamError { key, message });
                    }
                }
                Ok(())
            }
        }

        /// Any discard policy; `match` it once a visit, outside the loop over cells.
        #[derive(Debug, Clone)]
        pub enum Policy {
            $(
                #[doc = concat!("`", $name, "`")]
                $policy($module::$policy),
            )*
        }

        impl Policy {
            /// The policy that `params` chooses, for `port`.
            ///
            /// # Errors
            /// As [`BufferPolicy::new`].
            pub fn new(params: &DiscardParams, port: &PortContext<'_>) -> Result<Self, ParamError> {
                Ok(match params.policy {
                    $(PolicyName::$policy => Self::$policy(BufferPolicy::new(&params.$module, port)?),)*
                })
            }
        }

        impl PolicyName {
            /// All names, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$policy,)*];

            /// The name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$policy => $name,)*
                }
            }

            /// As [`BufferPolicy::KEEPS_ACCOUNTS`].
            #[must_use]
            pub const fn keeps_accounts(self) -> bool {
                match self {
                    $(Self::$policy => <$module::$policy as BufferPolicy>::KEEPS_ACCOUNTS,)*
                }
            }

            /// As [`BufferPolicy::PUSHES_OUT`].
            #[must_use]
            pub const fn pushes_out(self) -> bool {
                match self {
                    $(Self::$policy => <$module::$policy as BufferPolicy>::PUSHES_OUT,)*
                }
            }

            /// What the catalogue says of this policy.
            #[must_use]
            pub fn info(self) -> $crate::catalogue::Info {
                match self {
                    $(Self::$policy => $crate::catalogue::Info {
                        name: $name,
                        summary: <$module::$policy as BufferPolicy>::SUMMARY,
                        reference: <$module::$policy as BufferPolicy>::REFERENCE,
                        per_vc: Some(<$module::$policy as BufferPolicy>::PER_VC),
                        schema: schemars::schema_for!(<$module::$policy as BufferPolicy>::Params),
                    },)*
                }
            }
        }

        /// Runs `$body` with `$bound` bound to the concrete policy inside `$any`.
        #[macro_export]
        macro_rules! with_policy {
            ($any:expr, $bound:ident => $body:expr) => {
                match $any {
                    $($crate::buffer::Policy::$policy($bound) => $body,)*
                }
            };
        }
    };
}

pub(super) use policies;
