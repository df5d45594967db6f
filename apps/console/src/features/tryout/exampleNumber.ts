import { getExampleNumber, type CountryCode } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';

/**
 * Mobile numbers that the regulator reserves for fiction (ACMA, ARCEP, Ofcom), for countries in which the library's example may be a real
 * person's.
 */
const FICTION: Readonly<Record<string, string>> = {
  AU: '+61491570006',
  FR: '+33639980001',
  GB: '+447700900123',
};

/** Returns a mobile number in E.164 for samples. @param country an ISO 3166 code of `COUNTRIES` */
export const exampleNumber = (country: string): string =>
  FICTION[country] ?? getExampleNumber(country as CountryCode, examples)!.number;
