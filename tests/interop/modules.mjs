// Lets the scripts here import packages from the test environment, which lies outside the
// repository: `node --import modules.mjs SCRIPT` with MCPGRAPH_TEST_MODULES naming the folder
// that holds `node_modules`.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const here = new URL(".", import.meta.url).href;
const installed = pathToFileURL(`${process.env.MCPGRAPH_TEST_MODULES}/`).href;
const isBare = (specifier) => !/^(\.|\/|[a-z]+:)/.test(specifier);

registerHooks({
  resolve(specifier, context, next) {
    const ours = context.parentURL?.startsWith(here) && isBare(specifier);
    return next(specifier, ours ? { ...context, parentURL: installed } : context);
  },
});
