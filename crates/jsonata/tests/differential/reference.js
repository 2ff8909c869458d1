// Evaluates cases with the reference implementation.
//
// Arguments: the reference's file, the file of cases. The cases are {"data": [...], "cases":
// [[expression, index of data], ...]}; one line of JSON is printed for each.

const [, , reference, file] = process.argv;
const jsonata = require(reference);
const { data, cases } = JSON.parse(require("fs").readFileSync(file, "utf8"));

// Functions are written as `$string` writes them; a lone surrogate, which only JavaScript has, as the
// replacement character.
function plain(key, value) {
  if (typeof value === "string") return value.toWellFormed();
  const isFunction =
    typeof value === "function" ||
    (value && (value._jsonata_lambda === true || value._jsonata_function === true));
  return isFunction ? "" : value;
}

// The reference notes on a built-in where it was last called, even by another expression, and gives
// that as the position of an error when the function is called by another. Every case begins afresh.
const functions = new Map();

async function forgetCalls(expression) {
  for (const [name] of expression.matchAll(/\$[a-zA-Z0-9]+/g)) {
    if (!functions.has(name)) functions.set(name, await jsonata(name).evaluate());
    const definition = functions.get(name);
    if (definition) {
      delete definition.token;
      delete definition.position;
    }
  }
}

async function run(expression, input) {
  await forgetCalls(expression);
  try {
    const program = jsonata(expression, { timeout: 1000, stack: 2000 });
    const result = await program.evaluate(structuredClone(input));
    const text = JSON.stringify(result, plain);
    const isNothing = text === undefined || (plain("", result) === "" && result !== "");
    return isNothing ? { none: true } : { value: JSON.parse(text) };
  } catch (error) {
    const token = error.token === undefined ? undefined : String(error.token);
    const { code = "uncoded", position } = error;
    return { code, token, position, detail: String(error.message) };
  }
}

(async () => {
  for (const [expression, index] of cases) {
    process.stdout.write(JSON.stringify(await run(expression, data[index])) + "\n");
  }
})();
