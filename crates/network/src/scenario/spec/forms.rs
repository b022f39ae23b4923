//! Tables that have one of several forms, told apart by their key `kind`.

/// Defines an enum whose variants are tables with a `kind`.
///
/// Writing and the JSON schema are serde's tagged form. Reading is not: serde would buffer the table to look for its
/// tag, and an error in the buffer no longer knows where it stands. The reader presents such a table as a variant instead.
macro_rules! forms {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident($form:ty),)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$variant_meta])* $variant($form),)*
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "kebab-case")]
                enum Form {
                    $($variant($form),)*
                }
                Ok(match Form::deserialize(deserializer)? {
                    $(Form::$variant(form) => Self::$variant(form),)*
                })
            }
        }
    };
}

pub(crate) use forms;
