//! From one line a discipline: the TOML key, the closed enum with static dispatch, and the catalogue.

macro_rules! disciplines {
    ($($module:ident::$discipline:ident => $name:literal,)*) => {
        $(pub mod $module;)*

        /// The names of the scheduling disciplines.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum DisciplineName {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $discipline,
            )*
        }

        /// The first of the registry.
        impl Default for DisciplineName {
            fn default() -> Self {
                Self::ALL[0]
            }
        }

        /// `[switch.scheduler]`: in which order a port serves its VCs.
        ///
        /// Tables of disciplines other than the chosen one are allowed, so that one scenario can be run under several.
        #[derive(
            Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
        pub struct SchedulerParams {
            /// The discipline's name.
            pub discipline: DisciplineName,
            $(
                #[doc = concat!("Parameters of `", $name, "`.")]
                #[serde(rename = $name, skip_serializing_if = "is_default")]
                pub $module: <$module::$discipline as Scheduler>::Params,
            )*
        }

        fn is_default<T: Default + PartialEq>(value: &T) -> bool {
            *value == T::default()
        }

        /// Any scheduling discipline.
        #[derive(Debug, Clone)]
        pub enum Discipline {
            $(
                #[doc = concat!("`", $name, "`")]
                $discipline($module::$discipline),
            )*
        }

        impl Discipline {
            /// The discipline that `params` chooses, for `vcs`.
            ///
            /// # Errors
            /// As [`Scheduler::new`].
            pub fn new(
                params: &SchedulerParams,
                vcs: Vcs<'_>,
                service: ServiceTime,
            ) -> Result<Self, ParamError> {
                Ok(match params.discipline {
                    $(DisciplineName::$discipline => Self::$discipline(Scheduler::new(&params.$module, vcs, service)?),)*
                })
            }

            /// As [`Scheduler::enqueue`].
            #[inline]
            pub fn enqueue(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
                match self {
                    $(Self::$discipline(discipline) => discipline.enqueue(vc, size, now, queues),)*
                }
            }

            /// As [`Scheduler::next`].
            #[inline]
            pub fn next(&mut self, now: Instant, queues: &impl Queues) -> Option<u32> {
                match self {
                    $(Self::$discipline(discipline) => discipline.next(now, queues),)*
                }
            }

            /// As [`Scheduler::withdraw`].
            pub fn withdraw(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
                match self {
                    $(Self::$discipline(discipline) => discipline.withdraw(vc, size, now, queues),)*
                }
            }
        }

        impl DisciplineName {
            /// All names, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$discipline,)*];

            /// The name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$discipline => $name,)*
                }
            }

            /// What the catalogue says of this discipline.
            #[must_use]
            pub fn info(self) -> $crate::catalogue::Info {
                match self {
                    $(Self::$discipline => $crate::catalogue::Info {
                        name: $name,
                        summary: <$module::$discipline as Scheduler>::SUMMARY,
                        reference: <$module::$discipline as Scheduler>::REFERENCE,
                        per_vc: None,
                        schema: schemars::schema_for!(<$module::$discipline as Scheduler>::Params),
                    },)*
                }
            }
        }
    };
}

pub(super) use disciplines;
