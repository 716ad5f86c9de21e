import { hash } from 'node:crypto';

const digest = (prefix: number, ...parts: readonly Uint8Array[]): Buffer =>
  Buffer.from(hash('sha256', Buffer.concat([Uint8Array.of(prefix), ...parts]), 'hex'), 'hex');

/**
 * Root of a Merkle tree over texts, lowercase hex (RFC 6962: leaves hash with 0 first, nodes with 1; SHA-256). It changes
 * with any leaf and with their order.
 */
export const merkleRoot = (leaves: readonly string[]): string => {
  if (leaves.length === 0) return hash('sha256', '', 'hex');
  return subtree(leaves.map((leaf) => digest(0, Buffer.from(leaf)))).toString('hex');
};

const subtree = (nodes: readonly Buffer[]): Buffer => {
  if (nodes.length === 1) return nodes[0]!;
  // The largest power of two below the number of nodes.
  const split = 2 ** Math.ceil(Math.log2(nodes.length) - 1);
  return digest(1, subtree(nodes.slice(0, split)), subtree(nodes.slice(split)));
};
