// Times expressions with the reference implementation.
//
// Argument: the reference's file. Each line of the input is [expression, input as JSON text, how
// often]; each line of the output is the nanoseconds that one evaluation took. An expression is
// compiled and its input read once, outside of what is measured.

const [, , reference] = process.argv;
const jsonata = require(reference);
const fs = require("fs");
const lines = require("readline").createInterface({ input: process.stdin });
const known = new Map();

async function time(expression, text, count) {
  const key = expression + "\n" + text.length;
  if (!known.has(key)) known.set(key, [jsonata(expression), JSON.parse(text)]);
  const [program, input] = known.get(key);
  const began = clock();
  for (let i = 0; i < count; i++) await program.evaluate(input);
  return (clock() - began) / count;
}

// Nanoseconds that this thread has been on a processor, or of the day where that is not told.
function clock() {
  try {
    return Number(fs.readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]);
  } catch {
    return Number(process.hrtime.bigint());
  }
}

(async () => {
  for await (const line of lines) {
    const [expression, text, count] = JSON.parse(line);
    process.stdout.write((await time(expression, text, count)) + "\n");
  }
})();
