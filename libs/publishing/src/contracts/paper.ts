/** What a workspace may choose for its PDFs; `by-locale`: A4 for `fr-FR`, US Letter for `en-US`. */
export const PAPERS = ['by-locale', 'a4', 'us-letter'] as const;
export type Paper = (typeof PAPERS)[number];
