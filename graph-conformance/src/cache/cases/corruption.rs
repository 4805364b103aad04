//! What is spoilt is an error, never a guess. Only for places that know how to spoil something.

use superstep_store::cache::CacheError;

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{of, some};
use crate::expect::{error_chain, same};

pub(crate) async fn damaged_result_is_an_error_that_names_the_entry(
    target: Target<'_>,
) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for key in ["before", "spoilt", "behind"] {
        fixture.put(&of(key), "1").await?;
    }
    drop(fixture);
    if !target.damage(&of("spoilt")).await {
        return Ok(());
    }
    let fixture = target.open().await?;
    let promise = "a spoilt result is an error that names it";
    match fixture.cache.get(of("spoilt"), fixture.now).await {
        Err(CacheError::Corrupt(corrupt)) => same(promise, of("spoilt"), corrupt.at)?,
        Err(other) => return Err(Broken::new(promise, "`CacheError::Corrupt`", error_chain(&other))),
        Ok(found) => return Err(Broken::new(promise, "`CacheError::Corrupt`", format!("{found:?}"))),
    }
    same("the others are there", some("1"), fixture.get(&of("behind")).await?)?;
    fixture.put(&of("spoilt"), "2").await?;
    same("a put takes its place", some("2"), fixture.get(&of("spoilt")).await?)
}
