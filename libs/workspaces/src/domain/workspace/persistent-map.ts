import { crc32 } from 'node:zlib';

/** A node has one child for each value of this many bits of the key's hash. */
const BITS = 5;
const WIDTH = 1 << BITS;
/** Levels of nodes. Below them are 32,768 leaves, so that a leaf of a million keys holds about thirty. */
const LEVELS = 3;

type Leaf<V> = ReadonlyMap<string, V>;
type Node<V> = readonly (Node<V> | Leaf<V> | undefined)[];

const NO_LEAF: Leaf<never> = new Map<string, never>();
const NO_NODE: Node<never> = Array.from({ length: WIDTH }, () => undefined);

/**
 * An immutable map. `with` and `without` return a new map that shares all but one path of nodes with this one. A fold
 * of n events therefore costs n times a constant; copying a Map for each would cost n².
 */
export class PersistentMap<V> {
  private constructor(
    private readonly root: Node<V>,
    readonly size: number,
  ) {}

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(NO_NODE, 0);
  }

  get(key: string): V | undefined {
    return this.leafOf(key).get(key);
  }

  has(key: string): boolean {
    return this.leafOf(key).has(key);
  }

  with(key: string, value: V): PersistentMap<V> {
    const leaf = new Map(this.leafOf(key)).set(key, value);
    return new PersistentMap(replaced(this.root, crc32(key), 1, leaf), this.size + (this.has(key) ? 0 : 1));
  }

  without(key: string): PersistentMap<V> {
    if (!this.has(key)) return this;
    const leaf = new Map(this.leafOf(key));
    leaf.delete(key);
    return new PersistentMap(replaced(this.root, crc32(key), 1, leaf), this.size - 1);
  }

  /** In no particular order. */
  values(): Iterable<V> {
    return valuesOf(this.root);
  }

  private leafOf(key: string): Leaf<V> {
    const hash = crc32(key);
    let found: Node<V> | Leaf<V> | undefined = this.root;
    for (let level = 1; level <= LEVELS && found; level += 1) found = (found as Node<V>)[digit(hash, level)];
    return (found as Leaf<V> | undefined) ?? NO_LEAF;
  }
}

const digit = (hash: number, level: number): number => (hash >>> (BITS * (level - 1))) % WIDTH;

const replaced = <V>(node: Node<V>, hash: number, level: number, leaf: Leaf<V>): Node<V> => {
  const copy = [...node];
  const at = digit(hash, level);
  copy[at] =
    level === LEVELS ? leaf : replaced((node[at] as Node<V> | undefined) ?? NO_NODE, hash, level + 1, leaf);
  return copy;
};

function* valuesOf<V>(node: Node<V> | Leaf<V>): Generator<V> {
  if (node instanceof Map) yield* node.values();
  else for (const child of node as Node<V>) if (child) yield* valuesOf(child);
}
