import { describe, expect, it } from 'vitest';
import { inPlaceOf } from './successor';

describe('what takes the place of something that is gone', () => {
  it('is the one with another name', () => {
    const found = inPlaceOf('b', ['a', 'b', 'c'], ['a', 'bb', 'c']);
    expect(found).toEqual({ name: 'bb', isRenamed: true });
  });

  it('is the next one after a removal, or the last', () => {
    expect(inPlaceOf('a', ['a', 'b'], ['b'])).toEqual({ name: 'b', isRenamed: false });
    expect(inPlaceOf('c', ['a', 'b', 'c'], ['a', 'b'])).toEqual({ name: 'b', isRenamed: false });
  });

  it('is nothing where nothing is gone, was there, or is left', () => {
    expect(inPlaceOf('a', ['a'], ['b', 'a'])).toBeNull();
    expect(inPlaceOf('x', ['a'], ['a'])).toBeNull();
    expect(inPlaceOf('a', ['a'], [])).toBeNull();
  });
});
