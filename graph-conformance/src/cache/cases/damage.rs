//! What is spoilt is an error, never a guess. Only for places that know how to spoil something.

use superstep_store::cache::CacheError;

use crate::Broken;
use crate::cache::case::Here;
use crate::cache::desk::{of, some};
use crate::expect::{same, told};

pub(crate) async fn a_spoilt_result_is_an_error_that_names_it(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    for key in ["before", "spoilt", "behind"] {
        desk.put(&of(key), "1").await?;
    }
    drop(desk);
    if !here.damage(&of("spoilt")).await {
        return Ok(());
    }
    let desk = here.open().await?;
    let promise = "a spoilt result is an error that names it";
    match desk.cache.get(of("spoilt"), desk.now).await {
        Err(CacheError::Corrupt(corrupt)) => same(promise, of("spoilt"), corrupt.at)?,
        Err(other) => return Err(Broken::new(promise, "`CacheError::Corrupt`", told(&other))),
        Ok(found) => return Err(Broken::new(promise, "`CacheError::Corrupt`", format!("{found:?}"))),
    }
    same("the others are there", some("1"), desk.get(&of("behind")).await?)?;
    desk.put(&of("spoilt"), "2").await?;
    same("a put takes its place", some("2"), desk.get(&of("spoilt")).await?)
}
