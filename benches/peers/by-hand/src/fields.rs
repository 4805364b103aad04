//! A large state, of which one field is written.

/// Defines a state with these fields and `step`, and a loop that writes `step`.
macro_rules! large {
    ($($field:ident)*) => {
        use std::future::ready;
        use std::hint::black_box;
        use std::sync::Arc;

        use harness::{Bench, STEPS, TEXT};

        use crate::Boxed;

        #[derive(Clone)]
        struct Large {
            step: u64,
            $($field: String,)*
        }

        #[derive(Default)]
        struct LargeUpdate {
            step: Option<u64>,
            $($field: Option<String>,)*
        }

        async fn tick(large: &Large) -> LargeUpdate {
            LargeUpdate { step: Some(large.step + 1), ..LargeUpdate::default() }
        }

        fn apply(large: &mut Arc<Large>, update: LargeUpdate) {
            let large = Arc::make_mut(large);
            if let Some(step) = update.step {
                large.step = step;
            }
            $(if let Some(value) = update.$field {
                large.$field = value;
            })*
        }

        pub(crate) fn time(bench: &Bench) {
            let node: Arc<Boxed<Large, LargeUpdate>> = Arc::new(Box::new(|large| Box::pin(tick(large))));
            let large = Large { step: 0, $($field: TEXT.to_owned(),)* };
            bench.time(
                move |_| ready((Arc::clone(&node), large.clone())),
                |(node, large)| async move {
                    let mut large = Arc::new(large);
                    while large.step < STEPS {
                        let update = black_box(&node)(&large).await;
                        apply(&mut large, update);
                    }
                    large
                },
                |_, large| async move {
                    assert_eq!(large.step, STEPS);
                    $(assert_eq!(large.$field, TEXT);)*
                },
            );
        }
    };
}

mod sixty {
    harness::with_59_fields!(large);
}

mod hundred {
    harness::with_99_fields!(large);
}

pub(crate) use hundred::time as with_100;
pub(crate) use sixty::time as with_60;
