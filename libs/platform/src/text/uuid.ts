const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in lower case, as the service writes its ids (RFC 9562, section 4). */
export const isUuid = (text: string): boolean => UUID.test(text);
