/**
 * Parses the part of Go's text/template that the chart uses. What it does not know is an error, so a chart that begins to
 * use more of the language fails its spec. The hosted CI compares the outcome with Helm's own.
 */

/** A value of a template: what JSON has, and undefined for Go's nil. */
export type Value = unknown;

export type Expression =
  | { readonly is: 'literal'; readonly value: Value }
  | { readonly is: 'path'; readonly of: Expression | null; readonly names: readonly string[] }
  | { readonly is: 'variable'; readonly name: string }
  | { readonly is: 'call'; readonly name: string; readonly given: readonly Expression[] };

export type Node =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'print'; readonly value: Expression }
  | { readonly is: 'set'; readonly name: string; readonly isNew: boolean; readonly value: Expression }
  | { readonly is: 'if'; readonly value: Expression; readonly then: Body; readonly otherwise: Body }
  | {
      readonly is: 'range';
      readonly value: Expression;
      readonly names: readonly string[];
      readonly body: Body;
    };
export type Body = readonly Node[];

export interface Parsed {
  readonly body: Body;
  readonly defined: ReadonlyMap<string, Body>;
}

interface Piece {
  readonly text: string;
  /** The tokens of an action; null for text. */
  readonly tokens: readonly string[] | null;
}

const ACTION = /\{\{(-\s+)?(\/\*[\s\S]*?\*\/|(?:"(?:[^"\\]|\\.)*"|[^"}]|\}(?!\}))*?)(\s+-)?\}\}/g;
const TOKEN =
  /\s*("(?:[^"\\]|\\.)*"|:=|\)(?:\.\w+)*|[=|(,]|-?\d+(?:\.\d+)?|\$?[\w]*(?:\.\w+)+|\$\w*|\.|\w+)/y;

const tokensOf = (action: string): readonly string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (action.slice(TOKEN.lastIndex).trim() !== '') {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(action)?.[1];
    if (token === undefined) throw new Error(`cannot read "${action.slice(at)}" in {{ ${action} }}`);
    tokens.push(token);
  }
  return tokens;
};

const piecesOf = (source: string): readonly Piece[] => {
  const pieces: Piece[] = [];
  let [at, trims] = [0, false];
  const text = (piece: string, trimsEnd: boolean): void => {
    const begun = trims ? piece.trimStart() : piece;
    pieces.push({ text: trimsEnd ? begun.trimEnd() : begun, tokens: null });
  };
  for (const match of source.matchAll(ACTION)) {
    text(source.slice(at, match.index), match[1] !== undefined);
    if (!match[2]!.startsWith('/*')) pieces.push({ text: match[2]!, tokens: tokensOf(match[2]!) });
    [at, trims] = [match.index + match[0].length, match[3] !== undefined];
  }
  text(source.slice(at), false);
  return pieces;
};

/** @throws Error when the template uses what this parser does not know */
export const parseTemplate = (source: string): Parsed => {
  const pieces = piecesOf(source);
  const defined = new Map<string, Body>();
  let next = 0;

  /** Up to the `end` or `else` that closes the block, or to the end of the file. */
  const body = (isBlock: boolean): Body => {
    const nodes: Node[] = [];
    for (;;) {
      const piece = pieces[next];
      if (piece === undefined) {
        if (isBlock) throw new Error('a block has no end');
        return nodes;
      }
      const { tokens } = piece;
      if (tokens?.[0] === 'end' || tokens?.[0] === 'else') {
        if (!isBlock) throw new Error(`{{ ${piece.text} }} closes nothing`);
        return nodes;
      }
      next += 1;
      if (tokens === null) nodes.push({ is: 'text', text: piece.text });
      else if (tokens[0] === 'define') defined.set(JSON.parse(tokens[1]!) as string, block());
      else nodes.push(action(tokens));
    }
  };

  const block = (): Body => {
    const nodes = body(true);
    if (pieces[next]?.tokens?.[0] !== 'end') throw new Error('{{ else }} belongs to {{ if }} here');
    next += 1;
    return nodes;
  };

  const condition = (tokens: readonly string[]): Node => {
    const value = pipeline(tokens);
    const then = body(true);
    const closing = pieces[next]!.tokens!;
    next += 1;
    if (closing[0] === 'end') return { is: 'if', value, then, otherwise: [] };
    if (closing[1] === 'if') return { is: 'if', value, then, otherwise: [condition(closing.slice(2))] };
    return { is: 'if', value, then, otherwise: block() };
  };

  const action = (tokens: readonly string[]): Node => {
    const [first, second] = tokens;
    if (first === 'if') return condition(tokens.slice(1));
    if (first === 'range') {
      const assigns = tokens.indexOf(':=');
      const names = tokens.slice(1, Math.max(assigns, 1)).filter((token) => token !== ',');
      return { is: 'range', names, value: pipeline(tokens.slice(Math.max(assigns, 0) + 1)), body: block() };
    }
    if (['with', 'template', 'block', 'break', 'continue'].includes(first!))
      throw new Error(`the chart does without {{ ${first} }}`);
    if (second === ':=' || second === '=')
      return { is: 'set', name: first!, isNew: second === ':=', value: pipeline(tokens.slice(2)) };
    return { is: 'print', value: pipeline(tokens) };
  };

  return { body: body(false), defined };
};

/** `a | f b` is `f b a`. */
const pipeline = (tokens: readonly string[]): Expression => {
  let at = 0;
  const operand = (): Expression => {
    const token = tokens[at]!;
    at += 1;
    if (token === '(') {
      const inner = piped();
      const closing = tokens[at];
      if (closing === undefined) throw new Error(`a parenthesis is open in {{ ${tokens.join(' ')} }}`);
      at += 1;
      return { is: 'path', of: inner, names: closing.split('.').slice(1) };
    }
    if (token.startsWith('"')) return { is: 'literal', value: JSON.parse(token) };
    if (/^-?\d/.test(token)) return { is: 'literal', value: Number(token) };
    if (token === 'true' || token === 'false') return { is: 'literal', value: token === 'true' };
    if (token.startsWith('.'))
      return { is: 'path', of: null, names: token === '.' ? [] : token.slice(1).split('.') };
    if (token.startsWith('$')) {
      const [name, ...names] = token.split('.');
      return { is: 'path', of: { is: 'variable', name: name! }, names };
    }
    if (!/^\w+$/.test(token)) throw new Error(`"${token}" is out of place in {{ ${tokens.join(' ')} }}`);
    return { is: 'call', name: token, given: [] };
  };
  const command = (last: Expression | null): Expression => {
    const operands: Expression[] = [];
    while (at < tokens.length && tokens[at] !== '|' && !tokens[at]!.startsWith(')')) operands.push(operand());
    const [first, ...given] = operands;
    if (first?.is === 'call') return { ...first, given: [...given, ...(last === null ? [] : [last])] };
    if (first === undefined || given.length > 0 || last !== null)
      throw new Error(`{{ ${tokens.join(' ')} }} calls what is no function`);
    return first;
  };
  const piped = (): Expression => {
    let value = command(null);
    while (tokens[at] === '|') {
      at += 1;
      value = command(value);
    }
    return value;
  };
  const whole = piped();
  if (at < tokens.length) throw new Error(`"${tokens[at]}" is out of place in {{ ${tokens.join(' ')} }}`);
  return whole;
};
