//! A model, run by tract.

use crate::error::Error;
use crate::tokens::WordPieces;
use everfold_memory_recall::Embedder;
use std::path::Path;
use std::sync::Arc;
use tract_onnx::prelude::*;

/// Numbers of pieces that the model is made ready for. A text goes to the
/// smallest that holds it: what is filled up costs as much as what is read.
const LENGTHS: [usize; 3] = [16, 48, crate::tokens::MOST];
/// What a model is tried with before it is trusted.
const TRIAL: &str = "a text";

type Plan = Arc<TypedRunnableModel>;

/// A sentence model, ready to use.
pub struct OnnxModel {
    id: String,
    tokens: WordPieces,
    plans: Vec<(usize, Plan)>,
    inputs: usize,
    dims: usize,
}

impl OnnxModel {
    /// Makes a model ready from its two files. `id` tells it apart from others.
    ///
    /// # Errors
    /// If a file cannot be read, or is not what it should be.
    pub fn open(id: &str, model: &Path, tokenizer: &Path) -> Result<Self, Error> {
        let json = std::fs::read(tokenizer)
            .map_err(|source| Error::Unreadable { path: tokenizer.to_owned(), source })?;
        let tokens = WordPieces::parse(&json).map_err(|fault| Error::NoTokenizer {
            path: tokenizer.to_owned(),
            message: fault.to_string(),
        })?;
        let bytes = std::fs::read(model)
            .map_err(|source| Error::Unreadable { path: model.to_owned(), source })?;
        let broken = |message: String| Error::NoModel { path: model.to_owned(), message };
        // What tract does with bytes that are no model is not ours to know.
        let made = std::panic::catch_unwind(|| plans(&bytes));
        let (plans, inputs) = made
            .map_err(|_| broken("it cannot be read".to_owned()))?
            .map_err(|error| broken(format!("{error:#}")))?;
        let mut own = Self { id: id.to_owned(), tokens, plans, inputs, dims: 0 };
        let tried = own.run(TRIAL).map_err(|error| broken(format!("{error:#}")))?;
        own.dims = tried.len();
        if own.dims == 0 {
            return Err(broken("it makes no vectors".to_owned()));
        }
        Ok(own)
    }

    /// The mean of what the model makes of the pieces of a text.
    fn run(&self, text: &str) -> TractResult<Vec<f32>> {
        let ids = self.tokens.encode(text);
        let fits = self.plans.iter().find(|(length, _)| *length >= ids.len());
        let Some((length, plan)) = fits.or(self.plans.last()) else { return Ok(Vec::new()) };
        let read = ids.len().min(*length);
        let mut padded = ids;
        padded.resize(*length, 0);
        let mask: Vec<i64> = (0..*length).map(|at| i64::from(at < read)).collect();
        let kinds = vec![0_i64; *length];
        let mut inputs = TVec::new();
        for values in [&padded, &mask, &kinds].into_iter().take(self.inputs) {
            inputs.push(Tensor::from_shape(&[1, *length], values)?.into());
        }
        let out = plan.run(inputs)?;
        let Some(hidden) = out.first() else { return Ok(Vec::new()) };
        let shape = hidden.shape().to_vec();
        let values = hidden.to_plain_array_view::<f32>()?;
        let values: Vec<f32> = values.iter().copied().collect();
        Ok(match shape.as_slice() {
            // A vector for the text, or one for each piece.
            [1, _] => values,
            [1, _, dims] => mean(values.chunks_exact((*dims).max(1)).take(read), *dims),
            _ => Vec::new(),
        })
    }
}

fn mean<'a>(pieces: impl Iterator<Item = &'a [f32]>, dims: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dims];
    for piece in pieces {
        for (sum, value) in sum.iter_mut().zip(piece) {
            *sum += value;
        }
    }
    sum
}

fn plans(bytes: &[u8]) -> TractResult<(Vec<(usize, Plan)>, usize)> {
    // Files name their lengths by words; ours are numbers, and what follows is told by them.
    let onnx = tract_onnx::onnx().with_ignore_output_shapes(true).with_ignore_value_info(true);
    let read = onnx.model_for_read(&mut &*bytes)?;
    let inputs = read.input_outlets()?.len();
    if !(1..=3).contains(&inputs) {
        return Err(TractError::msg(format!("it takes {inputs} inputs, which no text gives")));
    }
    let mut plans = Vec::new();
    for length in LENGTHS {
        let mut model = read.clone();
        for input in 0..inputs {
            let fact = InferenceFact::dt_shape(i64::datum_type(), [1, length]);
            model.set_input_fact(input, fact)?;
        }
        plans.push((length, model.into_optimized()?.into_runnable()?));
    }
    Ok((plans, inputs))
}

impl Embedder for OnnxModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        match self.run(text) {
            Ok(vector) if !vector.is_empty() => Some(vector),
            Ok(_) => None,
            Err(error) => {
                tracing::info!(%error, "a sentence model gave no vector");
                None
            }
        }
    }
}
