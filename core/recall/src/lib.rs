//! Recall: manifest, lexical ranking, budgets.
