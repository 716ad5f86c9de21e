/** Whether a text has more characters (code points) than that. Looks at no more of it than it must. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > 2 * most || (text.length > most && [...text].length > most);
