/**
 * Streams are named `<category>-<id>`. A category never contains `-`, so the first hyphen separates the two, and ids
 * may contain hyphens.
 */
export const streamName = (category: string, id: string): string => {
  if (category.includes('-') || category === '') throw new TypeError(`Invalid category "${category}"`);
  if (id === '') throw new TypeError(`A ${category} stream needs an id`);
  return `${category}-${id}`;
};

export const categoryOf = (stream: string): string => {
  const hyphen = stream.indexOf('-');
  return hyphen < 0 ? stream : stream.slice(0, hyphen);
};

/** The part after the first hyphen; empty when the name has none. */
export const streamId = (stream: string): string => {
  const hyphen = stream.indexOf('-');
  return hyphen < 0 ? '' : stream.slice(hyphen + 1);
};
