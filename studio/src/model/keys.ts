/** Whether keyboards of this system have a key ⌘. */
const isApple = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '');

/** Keys as this system names them, of a text that names them as Apple does. */
export function keysHere(keys: string, hasCommand = isApple): string {
  if (hasCommand) return keys;
  return keys.replaceAll('⇧⌘', 'Ctrl+Shift+').replaceAll('⌘', 'Ctrl+');
}
