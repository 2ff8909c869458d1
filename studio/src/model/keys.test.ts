import { describe, expect, it } from 'vitest';
import { keysHere } from './keys';

describe('keys', () => {
  it('have the names of the system', () => {
    expect(keysHere('⌘Z ⇧⌘Z', true)).toBe('⌘Z ⇧⌘Z');
    expect(keysHere('⌘Z ⇧⌘Z', false)).toBe('Ctrl+Z Ctrl+Shift+Z');
    expect(keysHere('⌘K or /', false)).toBe('Ctrl+K or /');
  });
});
