import type { PhrasingContent } from 'mdast';

/**
 * Where a renderer of GitHub Flavored Markdown would see an address and link it by itself (GFM 6.9, extended autolinks):
 * within `www.`, before `://`, around the `@` of a mail address.
 */
const IN_AN_ADDRESS = /(?<=www)(?=[.])|(?=:\/\/)|(?=@)|(?<=@)/i;

/**
 * Shows nothing and divides a text. An escape is not enough: some renderers look for addresses once escapes are resolved.
 */
const DIVIDER: PhrasingContent = { type: 'html', value: '<!-- -->' };

/** A text that no renderer links, whatever a name in it looks like. */
export const words = (value: string): PhrasingContent[] =>
  value
    .split(IN_AN_ADDRESS)
    .flatMap((part, index): PhrasingContent[] => [
      ...(index === 0 ? [] : [DIVIDER]),
      { type: 'text', value: part },
    ]);
