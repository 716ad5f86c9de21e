/** All events of a bounded read. */
export const collect = async <E>(events: AsyncIterable<E>): Promise<E[]> => {
  const all: E[] = [];
  for await (const event of events) all.push(event);
  return all;
};
