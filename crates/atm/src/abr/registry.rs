//! From one line an algorithm: the TOML key, the closed enum with static dispatch, and the catalogue.

macro_rules! rate_allocators {
    ($($module:ident::$allocator:ident => $name:literal,)*) => {
        $(pub mod $module;)*

        celltrain_engine::registry! {
            /// The names of the rate allocators.
            names AllocatorName;
            /// Any rate allocator; `match` it once a visit, outside the loop over cells.
            any pub Allocator: RateAllocator(port: &Port<'_>);
            /// Runs `$body` with `$bound` bound to the concrete rate allocator inside `$any`.
            #[macro_export]
            dispatch with_allocator in $crate::abr;
            /// The rate allocator of a port and the parameters of each.
            ///
            /// Tables of allocators other than the chosen one are allowed, so that one scenario can be run under several.
            tables AllocatorParams {
                /// The allocator's name.
                algorithm
            }
            per_vc(Allocator) = None;
            { $(#[doc = concat!("`", $name, "`")] $module::$allocator => $name,)* }
        }
    };
}

pub(super) use rate_allocators;
