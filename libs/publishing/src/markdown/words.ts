import type { PhrasingContent } from 'mdast';

/**
 * Matches where a GitHub Flavored Markdown renderer would detect an address and link it (GFM 6.9, extended autolinks):
 * within `www.`, before `://`, around the `@` of a mail address.
 */
const IN_AN_ADDRESS = /(?<=www)(?=[.])|(?=:\/\/)|(?=@)|(?<=@)/i;

/**
 * An invisible node that splits a text. An escape is not enough: some renderers detect addresses after resolving
 * escapes.
 */
const DIVIDER: PhrasingContent = { type: 'html', value: '<!-- -->' };

/** What every such place is next to; far quicker to look for. */
const MAY_BE_ADDRESS = /@|:\/\/|www\./i;

/** Text that no renderer turns into a link, even when a name in it looks like an address. */
export const words = (value: string): PhrasingContent[] =>
  MAY_BE_ADDRESS.test(value)
    ? value
        .split(IN_AN_ADDRESS)
        .flatMap((part, index): PhrasingContent[] => [
          ...(index === 0 ? [] : [DIVIDER]),
          { type: 'text', value: part },
        ])
    : [{ type: 'text', value }];
