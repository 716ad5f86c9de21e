export interface SiteDocument {
  readonly path: string;
  readonly mediaType: string;
  readonly text: string;
}
export interface SiteSection {
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
  readonly lang: 'en' | 'fr';
}
export declare const buildSite: () => {
  readonly documents: readonly SiteDocument[];
  readonly search: string;
  readonly found: readonly SiteSection[];
};
