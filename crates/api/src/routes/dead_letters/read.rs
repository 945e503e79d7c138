//! Reading a dead letter.

use application::Problem;
use axum::{extract::State, response::Response};
use kernel::{
    authority::{AppAccess, AppRightName},
    id::DeadLetterId,
};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::view::DeadLetterView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        conditional::{IfNoneMatch, Representation},
        error::ApiResult,
    },
    state::Api,
};

/// A dead letter with its input.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeadLetter)]
pub(crate) struct DeadLetterWithPayload {
    #[serde(flatten)]
    letter: DeadLetterView,
    /// Input of the run or call; any JSON.
    #[schema(required, value_type = serde_json::Value)]
    payload: Option<Box<RawValue>>,
}

impl Representation for DeadLetterWithPayload {}

/// Read a dead letter with its input
#[utoipa::path(get, path = "/v1/dead-letters/{id}", tag = "runs", params(("id" = kernel::id::DeadLetterId, Path, description = "The dead letter."), IfNoneMatch), responses((status = 200, body = DeadLetterWithPayload)))]
pub(crate) async fn read_dead_letter(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (DeadLetterId, AppAccess)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let found = api.store().dead_letter(access.member().workspace(), id).await?;
    let (dead_letter, payload) = found.ok_or_else(|| Problem::not_found("dead letter"))?;
    let can_manage = access.rights().contains(AppRightName::CanEdit);
    let letter = DeadLetterView::of(dead_letter, can_manage);
    Ok(known.respond(DeadLetterWithPayload { letter, payload })?)
}
