//! From one line a policy: the TOML key, the closed enum with static dispatch, and the catalogue.

macro_rules! policies {
    ($($module:ident::$policy:ident => $name:literal,)*) => {
        $(pub mod $module;)*

        celltrain_engine::registry! {
            /// The names of the discard policies.
            names PolicyName;
            /// Any discard policy; `match` it once a visit, outside the loop over cells.
            any pub Policy: BufferPolicy(port: &PortContext<'_>);
            /// Runs `$body` with `$bound` bound to the concrete policy inside `$any`.
            #[macro_export]
            dispatch with_policy in $crate::buffer;
            /// `[switch.discard]`: the policy of a port's buffer and the parameters of each policy.
            ///
            /// Tables of policies other than the chosen one are allowed, so that one scenario can be run under several.
            tables DiscardParams {
                /// The policy's name.
                policy
            }
            per_vc(Policy) = Some(<Policy as BufferPolicy>::PER_VC);
            { $(#[doc = concat!("`", $name, "`")] $module::$policy => $name,)* }
        }

        impl DiscardParams {
            /// The levels among the chosen policy's parameters, by key: what a viewer may read.
            #[must_use]
            pub fn levels(&self) -> Vec<(&'static str, Level)> {
                match self.policy {
                    $(PolicyName::$policy => $module::$policy::levels(&self.$module),)*
                }
            }

            /// What the chosen policy's key `ecn` says, if it has that key: whether to mark frames.
            #[must_use]
            pub fn ecn(&self) -> Option<bool> {
                match self.policy {
                    $(PolicyName::$policy => $module::$policy::ecn(&self.$module),)*
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

        impl PolicyName {
            /// As [`Needs::PER_VC`] of what the policy needs.
            #[must_use]
            pub const fn needs_per_vc(self) -> bool {
                match self {
                    $(Self::$policy => <<$module::$policy as BufferPolicy>::Needs as Needs>::PER_VC,)*
                }
            }

            /// As [`Needs::PUSH_OUT`] of what the policy needs.
            #[must_use]
            pub const fn pushes_out(self) -> bool {
                match self {
                    $(Self::$policy => <<$module::$policy as BufferPolicy>::Needs as Needs>::PUSH_OUT,)*
                }
            }
        }
    };
}

pub(super) use policies;
