use std::sync::Arc;

use super::StoreError;

/// What an item is found by in a search by meaning: vectors that a model has made of it, of one length.
///
/// An item may have several, of several fields; the nearest of them counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    model: Arc<str>,
    vectors: Vec<Vec<f32>>,
}

/// What a search by meaning looks for: a vector, and the model that has made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    model: Arc<str>,
    vector: Vec<f32>,
}

impl Embedding {
    /// The vectors of a model.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if there is none, if one is of another length or empty, or holds something that is not a
    /// finite number.
    pub fn new(model: impl Into<Arc<str>>, vectors: Vec<Vec<f32>>) -> Result<Self, StoreError> {
        let dimensions = vectors.first().map_or(0, Vec::len);
        for vector in &vectors {
            check(vector)?;
            if vector.len() != dimensions {
                return Err(StoreError::invalid(format!(
                    "vectors of one item have {dimensions} and {} dimensions: a model makes them of one length",
                    vector.len()
                )));
            }
        }
        if vectors.is_empty() {
            return Err(StoreError::invalid("an embedding without a vector is none: leave it out"));
        }
        Ok(Self { model: model.into(), vectors })
    }

    /// The model's name.
    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// The vectors.
    pub fn vectors(&self) -> &[Vec<f32>] {
        &self.vectors
    }
}

impl Near {
    /// The vector of a model.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if it is empty, or holds something that is not a finite number.
    pub fn new(model: impl Into<Arc<str>>, vector: Vec<f32>) -> Result<Self, StoreError> {
        check(&vector)?;
        Ok(Self { model: model.into(), vector })
    }

    /// The model's name.
    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// The vector.
    pub fn vector(&self) -> &[f32] {
        &self.vector
    }

    /// Whether vectors of this model and length can be compared with it.
    pub fn compares(&self, model: &str, dimensions: usize) -> bool {
        *self.model == *model && self.vector.len() == dimensions
    }

    /// How near a vector of the same model is: the cosine, from -1 to 1. A vector of zeros is near to nothing: 0.
    pub fn score(&self, vector: &[f32]) -> f32 {
        // In `f64`, where no square of an `f32` is too large.
        let (mut product, mut one, mut other) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (a, b) in self.vector.iter().zip(vector) {
            let (a, b) = (f64::from(*a), f64::from(*b));
            product += a * b;
            one += a * a;
            other += b * b;
        }
        let lengths = one.sqrt() * other.sqrt();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a score need not be more precise than what it is made of"
        )]
        if lengths > 0.0 { (product / lengths).clamp(-1.0, 1.0) as f32 } else { 0.0 }
    }
}

fn check(vector: &[f32]) -> Result<(), StoreError> {
    if vector.is_empty() {
        return Err(StoreError::invalid("a vector without dimensions is near to nothing"));
    }
    match vector.iter().find(|number| !number.is_finite()) {
        Some(number) => {
            Err(StoreError::invalid(format!("a vector holds {number}, which is not a finite number")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_the_cosine() {
        let near = |vector: &[f32]| Near::new("m", vector.to_vec()).unwrap();
        assert_eq!(near(&[2.0, 0.0]).score(&[0.5, 0.0]), 1.0);
        assert_eq!(near(&[1.0, 0.0]).score(&[0.0, 7.0]), 0.0);
        assert_eq!(near(&[1.0, 0.0]).score(&[-3.0, 0.0]), -1.0);
        assert_eq!(near(&[1.0, 0.0]).score(&[0.0, 0.0]), 0.0);
        assert_eq!(near(&[f32::MAX, f32::MAX]).score(&[f32::MAX, f32::MAX]), 1.0);
    }

    #[test]
    fn what_is_no_embedding_is_refused() {
        for vectors in [vec![], vec![vec![]], vec![vec![f32::NAN]], vec![vec![1.0], vec![1.0, 2.0]]] {
            assert!(Embedding::new("m", vectors).is_err());
        }
        assert!(Near::new("m", vec![f32::INFINITY]).is_err());
    }
}
