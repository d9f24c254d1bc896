//! The schemas of the types that are texts on the wire.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::{BranchName, Id};

impl PartialSchema for Id {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A SHA-256."))
            .pattern(Some("^sha256:[0-9a-f]{64}$"))
            .into()
    }
}

impl ToSchema for Id {}

impl PartialSchema for BranchName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "Components of letters, digits, `.`, `_` and `-`, joined by `/`: a file path that is safe on \
                 every system, so not every text of this form is one.",
            ))
            .min_length(Some(1))
            .max_length(Some(255))
            .pattern(Some("^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$"))
            .into()
    }
}

impl ToSchema for BranchName {}
