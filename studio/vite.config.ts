import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
const dist = join(root, '../crates/studio/dist');

/** Everything that decides what is built; a Rust test computes the same digest. */
function sources(): string[] {
  const inside = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? inside(path) : [path];
    });
  const single = [
    'index.html',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'vite.config.ts',
  ];
  const all = [...single, ...inside('src'), ...inside('public')];
  return all.filter((name) => !name.includes('.test.')).sort();
}

function digest(): string {
  const hash = createHash('sha256');
  for (const name of sources()) {
    const bytes = readFileSync(join(root, name));
    hash.update(`${name}\0${bytes.length}\0`);
    hash.update(bytes);
  }
  return hash.digest('hex');
}

/** Writes what was built from what, and how large it is on its way to a browser. */
function manifest(): Plugin {
  return {
    name: 'manifest',
    apply: 'build',
    closeBundle() {
      const names = readdirSync(dist).filter((name) => name !== 'manifest.json');
      const gzipped = Object.fromEntries(
        names.sort().map((name) => [name, gzipSync(readFileSync(join(dist, name))).length]),
      );
      const text = JSON.stringify({ sources: digest(), gzipped }, null, 2);
      writeFileSync(join(dist, 'manifest.json'), `${text}\n`);
    },
  };
}

export default defineConfig({
  plugins: [react(), manifest()],
  // The server finds the files under the root.
  base: './',
  build: {
    outDir: dist,
    emptyOutDir: true,
    modulePreload: false,
    target: 'es2023',
    rollupOptions: {
      output: {
        // Names that stay make small differences in the repository.
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: 'app[extname]',
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4747' } },
});
