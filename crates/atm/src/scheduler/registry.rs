//! From one line a discipline: the TOML key, the closed enum with static dispatch, and the catalogue.

macro_rules! disciplines {
    ($($module:ident::$discipline:ident => $name:literal,)*) => {
        $(pub mod $module;)*

        celltrain_engine::registry! {
            /// The names of the scheduling disciplines.
            names DisciplineName;
            /// Any scheduling discipline.
            any pub Discipline: Scheduler(vcs: Vcs<'_>);
            dispatch with_discipline in $crate::scheduler;
            /// `[switch.scheduler]`: in which order a port serves its VCs.
            ///
            /// Tables of disciplines other than the chosen one are allowed, so that one scenario can be run under several.
            #[derive(Default)]
            #[serde(default)]
            tables SchedulerParams {
                /// The discipline's name.
                discipline
            }
            per_vc(Discipline) = None;
            { $(#[doc = concat!("`", $name, "`")] $module::$discipline => $name,)* }
        }

        /// The first of the registry.
        impl Default for DisciplineName {
            fn default() -> Self {
                Self::ALL[0]
            }
        }

        impl SchedulerParams {
            /// As [`Scheduler::share`], of the discipline that they choose.
            #[must_use]
            pub fn share(&self) -> Option<Share> {
                match self.discipline {
                    $(DisciplineName::$discipline => $module::$discipline::share(&self.$module),)*
                }
            }
        }

        impl Discipline {
            /// As [`Scheduler::enqueue`].
            #[inline]
            pub fn enqueue(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
                with_discipline!(self, discipline => discipline.enqueue(vc, size, now, queues));
            }

            /// As [`Scheduler::FORGETS`].
            #[inline]
            pub fn forgets(&self) -> bool {
                fn of<S: Scheduler>(_: &S) -> bool {
                    S::FORGETS
                }
                with_discipline!(self, discipline => of(discipline))
            }

            /// As [`Scheduler::pass`].
            #[inline]
            pub fn pass(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
                with_discipline!(self, discipline => discipline.pass(vc, size, now, queues));
            }

            /// As [`Scheduler::refund`].
            pub fn refund(&mut self, vc: u32, size: u32, queues: &impl Queues) {
                with_discipline!(self, discipline => discipline.refund(vc, size, queues));
            }

            /// As [`Scheduler::empty_turns`].
            #[must_use]
            pub fn empty_turns(&self, vc: u32) -> Option<u64> {
                with_discipline!(self, discipline => discipline.empty_turns(vc))
            }

            /// As [`Scheduler::shared`].
            #[inline]
            #[must_use]
            pub fn shared(&self, vc: u32, side: Side) -> Option<SharedQueue<'_>> {
                with_discipline!(self, discipline => discipline.shared(vc, side))
            }

            /// As [`Scheduler::next`].
            #[inline]
            pub fn next(&mut self, now: Instant, queues: &impl Queues) -> Option<u32> {
                with_discipline!(self, discipline => discipline.next(now, queues))
            }

            /// As [`Scheduler::withdraw`].
            pub fn withdraw(&mut self, vc: u32, size: u32, behind: usize, now: Instant, queues: &impl Queues) {
                with_discipline!(self, discipline => discipline.withdraw(vc, size, behind, now, queues));
            }
        }
    };
}

pub(super) use disciplines;
