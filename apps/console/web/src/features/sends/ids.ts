const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether somebody typed the id of something. */
export const isId = (text: string): boolean => ID.test(text);
