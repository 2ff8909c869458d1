import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['e2e/**/*.e2e.ts'],
    // One browser and one server at a time: what is measured is not to be disturbed.
    fileParallelism: false,
    // The tests of a file go on where the one before ended.
    bail: 1,
    testTimeout: 240_000,
    hookTimeout: 60_000,
    // What is waited for comes as late as anything else that is waited for.
    expect: { poll: { timeout: 15_000 } },
  },
});
