//! What figures compute instead of running a network: a formula by name, with its values.

use tailback_parameters::Values;
use tailback_protocol::{FormulaModel, FormulaResult};

use crate::choice::{FORMULA, FORMULAS, read_choice};
use crate::diagnostic::Diagnostic;
use crate::parameters::Context;
use crate::print::print;
use crate::reader::{Reading, TableReader};
use crate::resolve::read_seed;
use crate::tree::{Item, Table};

/// A formula with all its values.
#[derive(Clone, Debug)]
pub struct Formula {
    model: &'static FormulaModel,
    values: Values,
    seed: u64,
    /// Its values with all defaults filled in.
    pub text: String,
}

impl Formula {
    /// The numbers that it gives, by name.
    #[must_use]
    pub fn compute(&self) -> Vec<(&'static str, f64)> {
        let numbers = (self.model.compute)(&self.values, self.seed);
        assert_eq!(numbers.len(), self.model.results.len(), "{} gives the numbers that it declares", self.model.name);
        self.model.results.iter().map(|result| result.name).zip(numbers).collect()
    }
}

/// The names of all numbers that some formula gives.
pub fn formula_results() -> impl Iterator<Item = &'static FormulaResult> + Clone {
    FORMULAS.iter().flat_map(|model| model.results)
}

/// Reads a document that has nothing but a formula and a seed.
pub(crate) fn read_formula(root: &mut TableReader<'_>, reading: &mut Reading) -> Option<Formula> {
    let seed = read_seed(root, reading);
    let Some(entry) = root.take(FORMULA) else {
        let missing = Diagnostic::at(root.span, "`formula` is missing");
        reading.blame(missing.help("`tailback models formula` lists those that there are"));
        return None;
    };
    let (choice, resolved) = read_choice(&entry.node, FORMULA, FORMULA, FORMULAS, &Context::default(), reading)?;
    if let Err(error) = (choice.model.check)(&choice.values) {
        choice.blame(error, FORMULA, reading);
        return None;
    }
    let seed = seed?;
    let mut text = Table::default();
    text.put("seed", Item::Integer(seed.into()));
    text.put(FORMULA, resolved);
    Some(Formula { model: choice.model, values: choice.values, seed, text: print(&text) })
}

#[cfg(test)]
mod tests {
    use crate::Document;

    fn complaints(text: &str) -> Vec<String> {
        let mistakes = Document::read("figure", text).formula().expect_err("it has mistakes");
        mistakes.list.into_iter().map(|mistake| mistake.message).collect()
    }

    #[test]
    fn a_formula_gives_its_numbers_by_name() {
        let read = |text: &str| Document::read("figure", text).with("formula.scheduler-cost.nodes=4096").formula();
        let formula = read("[formula.scheduler-cost]\nrequests = 128").expect("it is a formula");
        let numbers = formula.compute();
        assert_eq!(numbers[0], ("transistors", 68_157_440.0));
        assert_eq!(numbers[1], ("message_bits", 48.0));
        assert!(formula.text.contains("storage = \"registers\""), "defaults are filled in: {}", formula.text);
        // A path may leave out the name of the formula that is chosen.
        let other = Document::read("figure", "formula = \"scheduler-cost\"").with("formula.nodes=4096").formula();
        assert_eq!(other.expect("it is a formula").text, formula.text);
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        assert_eq!(complaints("seed = 2"), ["`formula` is missing"]);
        assert_eq!(complaints("formula = \"scheduler-costs\""), ["unknown formula \"scheduler-costs\""]);
        assert_eq!(complaints("formula = \"scheduler-cost\"\nrouting = \"minimal\""), ["unknown key `routing`"]);
        let far =
            "[formula.single-stage-throughput]\nby = \"simulation\"\ninputs = 4096\nbuffer = 64\nslots = 16777216";
        assert!(complaints(far)[0].contains("grants would be drawn"), "{:?}", complaints(far));
        assert_eq!(complaints("[formula.scheduler-cost]\nnodes = 0").len(), 1);
        assert_eq!(complaints("seed = -1\nformula = \"scheduler-cost\"").len(), 1);
    }
}
