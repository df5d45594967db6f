-- When a ceiling of units for a day or a month (UTC) lets sends through again: when the next one begins; null for now.
--
-- units: of the day or month of `units_on`
-- new: units of now
create or replace function ceiling_opens_at(period text, ceiling integer, units_on date, units integer, new integer, at timestamptz)
returns timestamptz
language sql stable as $$
  select case
    when ceiling is not null and new + case
      when date_trunc(period, units_on::timestamp) = date_trunc(period, at at time zone 'UTC') then units
      else 0
    end >= ceiling
    then (date_trunc(period, at at time zone 'UTC') + ('1 ' || period)::interval) at time zone 'UTC'
  end
$$;
