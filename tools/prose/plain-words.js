/**
 * A textlint rule for the English of this project: no sentence of more than `maxWords` words, none of the
 * phrases that style.yaml lists. Code, links' addresses and HTML are left out. A semicolon ends a note in a table.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const style = parse(readFileSync(join(import.meta.dirname, 'style.yaml'), 'utf8'));

/** Each listed phrase as a whole, in any case, also across the end of a line; `a|b` stands for either word. */
const PHRASES = Object.entries(style.phrases).map(([phrase, instead]) => ({
  pattern: new RegExp(
    String.raw`(?<![\p{L}-])(?:${phrase.replaceAll(' ', String.raw`\s+`)})(?![\p{L}-])`,
    'giu',
  ),
  instead,
}));

/** Spaces where text is to be left out, so that what is found keeps its place. */
const blank = (text) => text.replaceAll(/\S/g, ' ');

/** The prose of a node: its source, with one word for each code span, and spaces for what is not read aloud. */
const prose = (source) =>
  source
    .replaceAll(/(`+)[\s\S]*?\1/g, (code) => 'x'.padStart(code.length))
    .replaceAll(/\]\([^)\s]*\)/g, blank)
    .replaceAll(/<[^>]+>/g, blank)
    .replaceAll(/https?:\/\/[^\s)]+/g, (address) => 'x'.padStart(address.length));

/** `[start, text]` of each sentence. */
const sentences = (text, end) => {
  const found = [];
  let start = 0;
  for (const match of text.matchAll(end)) {
    found.push([start, text.slice(start, match.index)]);
    start = match.index + match[0].length;
  }
  return [...found, [start, text.slice(start)]];
};

const wordsOf = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

export default ({ Syntax, RuleError, report, getSource, locator }) => {
  const check = (end) => (node) => {
    const text = prose(getSource(node));
    const say = (from, to, message) =>
      report(node, new RuleError(message, { padding: locator.range([from, to]) }));

    for (const { pattern, instead } of PHRASES)
      for (const match of text.matchAll(pattern))
        say(
          match.index,
          match.index + match[0].length,
          `Not "${match[0].replaceAll(/\s+/g, ' ')}" but ${instead}`,
        );

    for (const [start, sentence] of sentences(text, end)) {
      const begin = start + (/\S/.exec(sentence)?.index ?? 0);
      const words = wordsOf(sentence);
      if (words > style.maxWords)
        say(begin, begin + 1, `${words} words in a sentence: at most ${style.maxWords}. Split it`);
    }
  };
  const paragraph = check(/(?<=[\p{L}\p{N}`)*”’"»%])[.?!…](?=[)*”’"]*(?:\s|$))/gu);
  return {
    [Syntax.Paragraph]: paragraph,
    [Syntax.Header]: paragraph,
    [Syntax.TableCell]: check(/;|[.?!](?=\s|$)/gu),
  };
};
