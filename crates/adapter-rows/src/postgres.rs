//! x
/// x
#[derive(Debug)]
pub struct PgOptions;
/// x
#[derive(Debug)]
pub struct PgRows;
