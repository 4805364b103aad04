//! Fields that are rebuilt from the graph's context.

use std::any::Any;

use super::FieldSpec;

static UNNAMED: FieldSpec = FieldSpec::__new("?");

/// Rebuilds a field through its `from_context` function. The function's signature determines the context type.
///
/// # Errors
/// Returns the field if the context has another type.
pub fn from_context<D: Any, T>(
    slot: &mut T,
    make: impl Fn(&D) -> T,
    context: &dyn Any,
    field: Option<&'static FieldSpec>,
) -> Result<(), &'static FieldSpec> {
    let Some(context) = context.downcast_ref::<D>() else {
        return Err(field.unwrap_or(&UNNAMED));
    };
    *slot = make(context);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::ptr_arg, reason = "the context is a `String`")]
    fn length(context: &String) -> Option<usize> {
        Some(context.len())
    }

    static FIELD: FieldSpec = FieldSpec::__new("length");

    #[test]
    fn signature_determines_the_context_type() {
        let mut slot = None;
        assert_eq!(from_context(&mut slot, length, &"four".to_owned(), Some(&FIELD)), Ok(()));
        assert_eq!(slot, Some(4));
    }

    #[test]
    fn other_context_type_is_an_error_with_the_field() {
        let mut slot = None;
        assert_eq!(from_context(&mut slot, length, &4_u8, Some(&FIELD)), Err(&FIELD));
        assert_eq!(slot, None);
    }
}
