//! Damaged data. These cases run only at places that can damage data.

use superstep_store::cache::CacheError;

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{of, some};
use crate::expect::{error_chain, same};

pub(crate) async fn damaged_result_is_an_error_that_names_the_entry(
    target: Target<'_>,
) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for key in ["before", "damaged", "after"] {
        fixture.put(&of(key), "1").await?;
    }
    drop(fixture);
    if !target.damage(&of("damaged")).await {
        return Ok(());
    }
    let fixture = target.open().await?;
    let promise = "a damaged result is an error that names the entry";
    match fixture.cache.get(of("damaged"), fixture.now).await {
        Err(CacheError::Corrupt(corrupt)) => same(promise, of("damaged"), corrupt.at)?,
        Err(other) => return Err(Broken::new(promise, "`CacheError::Corrupt`", error_chain(&other))),
        Ok(found) => return Err(Broken::new(promise, "`CacheError::Corrupt`", format!("{found:?}"))),
    }
    same("other results can be read", some("1"), fixture.get(&of("after")).await?)?;
    fixture.put(&of("damaged"), "2").await?;
    same("a put replaces the damaged result", some("2"), fixture.get(&of("damaged")).await?)
}
