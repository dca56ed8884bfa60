//! What a day's conversations cost, and the work beside them, a file a day
//! (L5.27, E6).
//!
//! Every process appends lines of its own, so no count is lost and no lock is
//! needed; the sum is made when it is asked for. Files of days gone by are
//! removed: what was spent stays in the transcripts.

use crate::error::Error;
use crate::jsonl::{self, Appender};
use everfold_kernel::QuerySource;
use everfold_kernel::ports::{BoxFuture, Spending, SpendingError, Spent, SpentOf};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Longest line that is read, in bytes.
const LINE_BYTES: u64 = 4_096;
const ENDING: &str = "jsonl";

/// The sums of a home, in a directory of their own.
#[derive(Clone, Debug)]
pub struct DiskSpending {
    dir: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Line {
    source: QuerySource,
    #[serde(flatten)]
    spent: Spent,
}

impl DiskSpending {
    /// Sums in this directory, which is made when something is spent.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn file(&self, day: Date) -> PathBuf {
        self.dir.join(format!("{day}.{ENDING}"))
    }

    fn sum(&self, day: Date) -> Result<SpentOf, Error> {
        let mut sum = SpentOf::default();
        let mut add = |line: &[u8]| {
            if let Ok(line) = serde_json::from_slice::<Line>(line) {
                sum.add(&line.source, line.spent);
            }
        };
        match jsonl::read(&self.file(day), LINE_BYTES, &mut add) {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(sum),
            Err(error) => Err(error),
        }
    }

    fn append(&self, day: Date, line: &Line) -> Result<(), Error> {
        let path = self.file(day);
        let first = !path.exists();
        let text = serde_json::to_string(line).map_err(|error| Error::io(&path, error.into()))?;
        Appender::open(&path)?.append(text.as_bytes())?;
        if first {
            self.forget_other_days(&path);
        }
        Ok(())
    }

    /// Removes the files of other days. One that cannot be removed is left.
    fn forget_other_days(&self, today: &Path) {
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path != today && path.extension().is_some_and(|ending| ending == ENDING) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

impl Spending for DiskSpending {
    fn spent(&self, day: Date) -> BoxFuture<'_, Result<SpentOf, SpendingError>> {
        blocking(self, day, move |own| own.sum(day))
    }

    fn add<'a>(
        &'a self,
        day: Date,
        source: &'a QuerySource,
        spent: Spent,
    ) -> BoxFuture<'a, Result<(), SpendingError>> {
        let line = Line { source: source.clone(), spent };
        blocking(self, day, move |own| own.append(day, &line))
    }
}

fn blocking<T: Send + 'static>(
    own: &DiskSpending,
    day: Date,
    work: impl FnOnce(&DiskSpending) -> Result<T, Error> + Send + 'static,
) -> BoxFuture<'static, Result<T, SpendingError>> {
    let own = own.clone();
    let path = own.file(day);
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(move || work(&own).map_err(|e| e.to_string())).await;
        let done = done.unwrap_or_else(|error| Err(error.to_string()));
        done.map_err(|message| SpendingError { path, message })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::Usd;

    fn spent(tokens: u64) -> Spent {
        Spent { tokens, cost: Usd(0.5) }
    }

    #[tokio::test]
    async fn l5_27_a_days_sum_is_shared_and_other_days_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("budget");
        let (one, other) = (DiskSpending::new(place.clone()), DiskSpending::new(place.clone()));
        let (day, next): (Date, Date) =
            ("2026-06-01".parse().unwrap(), "2026-06-02".parse().unwrap());
        assert_eq!(one.spent(day).await.unwrap(), SpentOf::default());
        one.add(day, &QuerySource::Recall, spent(10)).await.unwrap();
        other.add(day, &QuerySource::Dream, spent(5)).await.unwrap();
        other.add(day, &QuerySource::Main, spent(70)).await.unwrap();
        let sum = one.spent(day).await.unwrap();
        assert_eq!(sum.background, Spent { tokens: 15, cost: Usd(1.0) });
        assert_eq!(sum.conversation, spent(70));
        one.add(next, &QuerySource::Extract, spent(1)).await.unwrap();
        assert_eq!(other.spent(next).await.unwrap().background, spent(1));
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn s6_lines_that_make_no_sense_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let day: Date = "2026-06-01".parse().unwrap();
        let own = DiskSpending::new(dir.path().to_owned());
        std::fs::write(own.file(day), "nonsense\n{\"source\":\"recall\",\"tokens\":3}\n{\"sou")
            .unwrap();
        assert_eq!(own.spent(day).await.unwrap().background.tokens, 3);
        own.add(day, &QuerySource::Recall, spent(4)).await.unwrap();
        assert_eq!(own.spent(day).await.unwrap().background.tokens, 7);
    }
}
