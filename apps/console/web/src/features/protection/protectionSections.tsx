import { SimpleGrid } from '@mantine/core';
import { useEffect } from 'react';
import { useLocation } from 'react-router';
import type { ProtectionView } from '../../../../src/features/protection/view.js';
import { useData } from '../../api/queries.js';
import { Loaded } from '../../components/states.js';
import { BreakerSection } from './breakerSection.js';
import { CeilingsSection } from './ceilingsSection.js';
import { CostlySection } from './costlySection.js';
import { CountriesSection } from './countriesSection.js';

export interface ProtectionProps {
  /** The path of the account, below `/api`. */
  path: string;
  protection: ProtectionView;
  mayChange: boolean;
}

/** What protects an account, to see and to change: for its people and for staff. @param path of the account, below `/api` */
export function ProtectionSections({ path, mayChange }: Omit<ProtectionProps, 'protection'>) {
  return (
    <Loaded read={useData<ProtectionView>(`${path}/protection`)}>
      {(protection) => <Sections path={path} protection={protection} mayChange={mayChange} />}
    </Loaded>
  );
}

function Sections(props: ProtectionProps) {
  const { hash } = useLocation();
  useEffect(() => {
    document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [hash]);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <CountriesSection {...props} />
      <CostlySection {...props} />
      <CeilingsSection {...props} />
      <BreakerSection {...props} />
    </SimpleGrid>
  );
}
