/** SQL: the host of a webhook URL, as it was checked. @param url SQL */
export const hostOfUrl = (url: string): string =>
  `lower(substring(${url} from '^[^/]+//(\\[[^]]+]|[^/:?#]+)'))`;
