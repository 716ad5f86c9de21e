/** Reads CSV strictly as RFC 4180 defines it. @throws Error */
export const parsedCsv = (text: string): string[][] => {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  const records: string[][] = [[]];
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (!match) throw new Error(`No CSV at ${at}: ${text.slice(at, at + 40)}`);
    records.at(-1)!.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',') records.push([]);
  }
  return records.slice(0, -1);
};
