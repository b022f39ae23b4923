//! What discard policies, scheduling disciplines and rate allocators have in common: an entry in the catalogue, and
//! parameters that can be wrong.

/// Describes a policy, a discipline or an allocator for lists and generated documentation.
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
